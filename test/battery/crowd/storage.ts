/** The S3 service of the crowd as a process of its own. Prints one line of JSON with its address. */
import { startS3 } from "../../upstreams/s3.ts";

console.log(JSON.stringify({ s3: startS3().address }));
