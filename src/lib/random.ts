/** Returns a number from 0 up to 1, for back-off and choices by weight. Use `ids` and `secret` for ids and secrets. */
export const random = (): number => Math.random();
