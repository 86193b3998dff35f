/** Migrations are imported as text, so that a bundled gateway contains them. */
declare module "*.sql" {
  const text: string;
  export default text;
}
