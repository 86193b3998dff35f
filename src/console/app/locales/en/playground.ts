/** The playground. */
export const playground = {
  title: "Playground",
};
