/** What a vendor of the same protocol adds to OpenAI's chat answers. */
export interface ChatManners {
  /** A whole answer, as it goes out. */
  whole(answer: object): object;
  /** The frames of a stream, as text. */
  frames(frames: Iterable<string>): Iterable<string>;
}

export const PLAIN_MANNERS: ChatManners = { whole: (answer) => answer, frames: (frames) => frames };
