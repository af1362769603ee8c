export { problemsOfLink } from './check_queries.ts';
export { type AnyGeoRoute, geoRoute } from './definition.ts';
export { handshakeRoute } from './handshake_http.ts';
export { geoDoorway } from './http.ts';
export { checkPassage, signedPassage } from './passage_actions.ts';
export { askPrimary, askPrimaryForJson, type Site as LinkedSite } from './request_actions.ts';
export { statusRoute } from './status_http.ts';
