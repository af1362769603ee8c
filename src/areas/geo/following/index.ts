export { problemsOfDatabase } from './check_queries.ts';
export { databaseUpgrade } from './database_http.ts';
export { followedRoute, slotRoute } from './http.ts';
export { followPrimary, keepSlots } from './jobs.ts';
export { preparePrimary } from './publication_actions.ts';
export { followingOf } from './queries.ts';
export { copyProblem } from './readiness_queries.ts';
export { copyAfterMigrations, prepareSecondary } from './start_actions.ts';
export { openTunnel, type Tunnel } from './tunnel_actions.ts';
