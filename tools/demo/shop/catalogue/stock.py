"""The stock of the warehouses."""


class OutOfStock(Exception):
    """Fewer copies are left than were ordered."""


class Stock:
    """How many copies of each product are left."""

    def __init__(self, copies):
        self.copies = dict(copies)

    def count(self, product):
        """Returns how many copies of a product are left; none of one that is not sold."""
        return self.copies.get(product, 0)

    def reserve(self, product, wanted):
        """Takes copies of a product.

        Raises:
            OutOfStock: if fewer are left
        """
        left = self.count(product)
        if left < wanted:
            raise OutOfStock(f"{left} of {product} left, {wanted} ordered")
        self.copies[product] = left - wanted
