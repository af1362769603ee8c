/** The interface of SCIM to the server. */
export { scimDoorway } from './http.ts';
