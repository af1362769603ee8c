/** The interface of the appearance to other districts. */
export { pictureDoorway } from './http.ts';
export { type Appearance, appearanceFor, readAppearance } from './queries.ts';
