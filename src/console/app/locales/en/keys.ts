/** Keys. */
export const keys = {
  title: "Keys",
};
