# Sends receipts to customers.
class ReceiptMailer
  # The address that receipts come from.
  SENDER = "orders@harbor-pine.example"

  def initialize(smtp)
    @smtp = smtp
  end

  # Sends the receipt of an order to its customer.
  def deliver(order, recipient)
    message = render(order)
    @smtp.send_message(message, SENDER, recipient)
  end

  # Returns the text of a receipt.
  def render(order)
    lines = order.lines.map { |line| "#{line.copies} x #{line.product}" }
    "Thank you for order #{order.number}:\n" + lines.join("\n")
  end
end
