/** The thread that `reading.ts` starts. It reads one report after another. */
import { parentPort } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { findingsOf } from './findings.ts';
import type { ToReader } from './reading.ts';

const maximumReport_bytes = 20 * 1024 * 1024;

/** The text of a report; empty if it is too large or broken. */
function textOf(bytes: Buffer): string {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.length > maximumReport_bytes ? '' : bytes.toString();
  try {
    return gunzipSync(bytes, { maxOutputLength: maximumReport_bytes }).toString();
  } catch {
    return '';
  }
}

parentPort!.on('message', ({ bytes, report_type }: ToReader) =>
  parentPort!.postMessage(findingsOf(textOf(Buffer.from(bytes)), report_type)),
);
