/** One product in the cart. */
export interface CartLine {
  readonly sku: string;
  quantity: number;
}

/** What the server says about a cart. */
export type CartCheck = { ok: true } | { ok: false; problem: string };

/** The visitor's cart, kept in the browser until it becomes an order. */
export class Cart {
  private readonly lines = new Map<string, CartLine>();

  constructor(private readonly storage: Storage) {}

  /** Number of pieces in the cart, shown beside the icon. */
  get count(): number {
    return [...this.lines.values()].reduce((sum, line) => sum + line.quantity, 0);
  }

  /** Adds pieces of a product; a negative number takes them out again. */
  add(sku: string, quantity = 1): void {
    const line = this.lines.get(sku) ?? { sku, quantity: 0 };
    line.quantity += quantity;
    if (line.quantity > 0) {
      this.lines.set(sku, line);
    } else {
      this.lines.delete(sku);
    }
    this.storage.setItem("cart", JSON.stringify([...this.lines.values()]));
  }

  /** Places the order. The key makes a repeated click harmless. */
  async checkout(customerId: string): Promise<CartCheck> {
    const response = await fetch("/api/orders", {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
      body: JSON.stringify({ customerId, lines: [...this.lines.values()] }),
    });
    return response.ok ? { ok: true } : { ok: false, problem: (await response.json()).detail };
  }
}

/** Formats an amount of pounds for the visitor's language. */
export function formatPounds(amount: number, language: string): string {
  return new Intl.NumberFormat(language, { style: "currency", currency: "GBP" }).format(amount);
}
