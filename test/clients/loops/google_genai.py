def save_file(path: str, content: str) -> str:
    """Saves a text file."""
    open(path, "w").write(content)
    return "saved"


reply = client.models.generate_content(
    model=model, contents=os.environ["PROMPT"], config={"tools": [save_file]}
)
print(reply.text)
