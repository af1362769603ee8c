/** The interface of keys to other districts. */
export { Key } from './routes.ts';
export { keyReasons, readPublicKey, titleReasons } from './rules.ts';
