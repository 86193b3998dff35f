from anthropic import beta_tool


@beta_tool
def save_file(path: str, content: str) -> str:
    """Saves a text file.

    Args:
        path: Where.
        content: Its text.
    """
    open(path, "w").write(content)
    return "saved"


runner = client.beta.messages.tool_runner(
    model=model,
    max_tokens=8000,
    tools=[save_file],
    messages=[{"role": "user", "content": os.environ["PROMPT"]}],
)
print(runner.until_done().content[-1].text)
