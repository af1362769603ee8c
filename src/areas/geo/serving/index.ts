export { blobsOfBothSites } from './blob_queries.ts';
export { serveAsSite, siteHeaders } from './http.ts';
export { passing } from './passing_actions.ts';
export { positionRoute } from './position_actions.ts';
export { sshAtPrimary } from './ssh_actions.ts';
