/** The credential of a secondary: a random text that only it and the primary know. */
import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../../secrets/index.ts';

const purpose = 'geo credential';

/** A new credential, as the table keeps it. */
export const newCredential = (secrets: Secrets): Buffer => secrets.seal(purpose, randomBytes(32).toString('hex'));
