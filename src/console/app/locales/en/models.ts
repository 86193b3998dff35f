/** Models, providers, prices. */
export const models = {
  title: "Models",
};
