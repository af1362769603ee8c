export { problemsOfLink } from './check_queries.ts';
export type { AnyGeoRoute } from './definition.ts';
export { handshakeRoute } from './handshake_http.ts';
export { geoDoorway } from './http.ts';
export { storeStatus } from './status_actions.ts';
export { statusRoute } from './status_http.ts';
