/** Entries of this folder that a release packs in an archive. Operators copy them or refer to them. */
export const DEPLOY_FILES = ["chart", "compose.yaml", "gateway.service", "grafana", "prometheus"] as const;
