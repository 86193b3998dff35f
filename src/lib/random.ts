/** Returns a number from 0 up to 1 for back-off and for choices by weight; secrets and ids are made by `ids` and `secret`. */
export const random = (): number => Math.random();
