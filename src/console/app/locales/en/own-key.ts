/** What a key sees of itself. */
export const ownKey = {
  title: "Your key",
};
