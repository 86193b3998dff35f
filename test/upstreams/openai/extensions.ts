/** Additions of a compatible vendor to OpenAI's chat responses. */
export interface ChatExtensions {
  /** Extends a complete response. */
  whole(response: object): object;
  /** Extends the frames of a stream. */
  frames(frames: Iterable<string>): Iterable<string>;
}

export const NO_EXTENSIONS: ChatExtensions = { whole: (response) => response, frames: (frames) => frames };
