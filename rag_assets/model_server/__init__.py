"""What talking to a model server over HTTP takes, whichever model it is: one bounded POST, the key, and why a request
failed. Text models (`llm`) and embedding models (`models.endpoint`) build on it."""
