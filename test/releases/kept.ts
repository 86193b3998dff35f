/** The folder with a folder for each release, which has a backup of each kind of database. */
export const RELEASES = import.meta.dir;

/** The secrets of every kept database, and a time zone and key that do not depend on who made it. */
export const RELEASE_ENVIRONMENT = {
  GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
  GATEWAY_BOOTSTRAP_KEY: "gk_of_every_database_that_is_kept",
  GATEWAY_ADMIN_PASSWORD: "a-password-for-tests",
};
