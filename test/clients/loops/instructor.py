from typing import Iterable

from pydantic import BaseModel


class File(BaseModel):
    """A text file to save."""

    path: str
    content: str


messages = [{"role": "user", "content": os.environ["PROMPT"]}]
for file in client.create(model=model, messages=messages, response_model=Iterable[File]):
    open(file.path, "w").write(file.content)
    print(file.path, "saved")
