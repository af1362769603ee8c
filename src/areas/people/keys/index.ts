/** What other areas may use of keys. */
export { keyRoutesOf } from './kind_routes.ts';
export { Key } from './routes.ts';
export { keyReasons, readPublicKey, titleReasons } from './rules.ts';
