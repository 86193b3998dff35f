/** Jobs. */
export const jobs = {
  title: "Jobs",
};
