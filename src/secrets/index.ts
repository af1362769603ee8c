/** The secret key of the server and what it protects. */
export { decrypted, digestWith, encrypted } from './content.ts';
export { keyInFile, SecretKeyError } from './key.ts';
export { type SealedColumn, type SealedPurpose, sealedColumns } from './sealed_columns.ts';
export { fingerprintOf, type Secrets, secretsFrom } from './secrets.ts';
