/** What other areas may use of the appearance. */
export { pictureDoorway } from './http.ts';
export { type Appearance, appearanceFor, readAppearance } from './queries.ts';
