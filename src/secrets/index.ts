/** The secret key of the server and what it protects. */
export { keyInFile, SecretKeyError } from './key.ts';
export { fingerprintOf, isReadable, type Secrets, secretsFrom } from './secrets.ts';
