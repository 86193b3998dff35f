from pydantic import BaseModel


class File(BaseModel):
    """A text file to save."""

    path: str
    content: str


messages = [{"role": "user", "content": os.environ["PROMPT"]}]
for _ in range(os.environ["PROMPT"].count("save ")):
    file, completion = client.create_with_completion(
        model=model, messages=messages, response_model=File
    )
    open(file.path, "w").write(file.content)
    print(file.path, "saved")
    message = completion.choices[0].message
    messages.append({"content": "", **message.model_dump(exclude_none=True)})
    messages.append({"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "saved"})
