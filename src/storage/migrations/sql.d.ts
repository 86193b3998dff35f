/** Migrations are imported as text, so that a bundled gateway carries them along. */
declare module "*.sql" {
  const text: string;
  export default text;
}
