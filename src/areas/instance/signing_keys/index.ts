/** The interface of the keys of ID tokens to other districts. */
export { rotateSigningKey, signer } from './actions.ts';
export { publishedKeys } from './queries.ts';
export { algorithm } from './rules.ts';
