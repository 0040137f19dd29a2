from checkout.orders import Order, OrderLine
from checkout.vouchers import apply_voucher


def test_a_voucher_reduces_the_goods_and_not_the_shipping():
    order = Order("1001", [OrderLine("tent", 20000, copies=2)], voucher="WELCOME10")
    assert apply_voucher(order) == 36490
