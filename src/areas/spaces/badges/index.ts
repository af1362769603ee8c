/** The interface of badges to other districts. */
export { groupBadges, projectBadges } from './relation.ts';
export { Badge } from './routes.ts';
