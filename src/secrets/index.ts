/** What protects what the database holds: the secret key of the server and its uses. */
export { keyInFile, SecretKeyError } from './key.ts';
export { fingerprintOf, type Secrets, secretsFrom } from './secrets.ts';
