/** The interface of ID tokens to other districts. */
export { idTokenDoorway } from './http.ts';
