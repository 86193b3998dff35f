/** Saves the content of a URL as a file. */
export function download(name: string, url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

export function downloadText(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  download(name, url);
  URL.revokeObjectURL(url);
}
