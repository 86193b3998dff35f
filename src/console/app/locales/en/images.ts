/** Image controls and gallery. */
export const images = {
  title: "Images",
};
