/** What a release has of this folder in an archive of its own: files and folders that an operator copies or names. */
export const DEPLOY_FILES = ["chart", "compose.yaml", "gateway.service", "grafana", "prometheus"] as const;
