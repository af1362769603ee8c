/** The interface of the appearance to other districts. */
export { pictureDoorway } from './http.ts';
export { type Appearance, appearanceFor, pictureFiles, readAppearance } from './queries.ts';
