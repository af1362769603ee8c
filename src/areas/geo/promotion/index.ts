export { promote } from './actions.ts';
export { primacyDoorway } from './http.ts';
export { copiesBehind, isPrimaryAlive, isPromoted, obstacleTo, successorOf } from './queries.ts';
