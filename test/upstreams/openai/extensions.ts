/** Additions of a compatible vendor to OpenAI's chat responses. */
export interface ChatExtensions {
  whole(response: object): object;
  frames(frames: Iterable<string>): Iterable<string>;
}

export const NO_EXTENSIONS: ChatExtensions = { whole: (response) => response, frames: (frames) => frames };
