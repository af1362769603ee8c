export { checkSignature, signedBy } from './access.ts';
export { problemsOfLink, refusalSentence } from './check_queries.ts';
export { hasCredential, newCredential } from './credential_rules.ts';
export { type AnyGeoRoute, type GeoCall, geoRoute } from './definition.ts';
export { handshakeRoute } from './handshake_http.ts';
export { geoDoorway } from './http.ts';
export { checkPassage, signedPassage } from './passage_actions.ts';
export { schemaVersion } from './queries.ts';
export {
  askPrimary,
  askPrimaryForJson,
  forgetCredential,
  PrimaryRefusal,
  type Site as LinkedSite,
  shakeHands,
  signedRequest,
} from './request_actions.ts';
export { statusRoute } from './status_http.ts';
