"""What no index of source code answers: things that code does not do, and questions that are not about it.

Checked by nobody but the reader of these lists: whoever indexes a shop for shipping labels should leave some out.
"""

from __future__ import annotations

PREDICATES = (
    "send invoices to the tax office by fax",
    "translate speech into subtitles",
    "train its neural network overnight",
    "print shipping labels for parcels",
    "sign PDF contracts with a smart card",
    "charge a credit card through Stripe",
    "balance chemical equations",
    "rotate the camera of a drone",
)
"""Said of names that there are, they make a question with a false premise."""

WORLD = (
    "What is the capital of Australia?",
    "How long should pasta boil?",
    "Who won the football world cup in 1998?",
    "Which vitamins does broccoli contain?",
    "How do I get a stain out of a carpet?",
    "What is the best time to visit Japan?",
    "How tall is Mount Everest?",
    "Explain the causes of the First World War",
    "Which medication helps against hay fever?",
    "What does our travel expense policy say about taxis?",
    "How many days of vacation do employees get?",
    "What was the revenue of the company last quarter?",
    "Who approves purchase orders above ten thousand euros?",
    "How is the Kubernetes cluster upgraded?",
    "Which Terraform module creates the virtual network?",
    "How do we rotate the keys of the payment gateway?",
    "Which React component renders the sidebar?",
    "How does the mobile app show push notifications on iOS?",
    "Where do we configure the Kafka consumer groups?",
    "How is the machine learning model retrained every night?",
)
