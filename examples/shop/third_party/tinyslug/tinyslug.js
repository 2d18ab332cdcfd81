// tinyslug 0.3: stands for a library that somebody copied into the repository.
export function slug(text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
}
