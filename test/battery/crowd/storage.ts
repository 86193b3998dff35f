/** The crowd's S3 service in its own process. Prints one line of JSON with its address. */
import { startS3 } from "../../upstreams/s3.ts";

console.log(JSON.stringify({ s3: startS3().address }));
