export { problemsOfLink } from './check_queries.ts';
export { newCredential } from './credential_rules.ts';
export type { AnyGeoRoute } from './definition.ts';
export { handshakeRoute } from './handshake_http.ts';
export { geoDoorway } from './http.ts';
export { signedRequest } from './request_actions.ts';
export { statusRoute } from './status_http.ts';
