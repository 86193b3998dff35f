/** This folder has a subfolder for each release, with one backup for each kind of database. */
export const RELEASES = import.meta.dir;

/** Variables of every kept database. The secrets are fixed, so that the databases do not depend on the machine. */
export const RELEASE_ENVIRONMENT = {
  GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
  GATEWAY_BOOTSTRAP_KEY: "gk_of_every_database_that_is_kept",
  GATEWAY_ADMIN_PASSWORD: "a-password-for-tests",
};
