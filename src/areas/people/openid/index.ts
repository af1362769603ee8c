/** The interface of OpenID Connect to other districts. */
export { oauthDoorway } from './http.ts';
export { paths } from './rules.ts';
