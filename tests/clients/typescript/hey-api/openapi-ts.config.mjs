export default {
  input: "v1.json",
  output: { path: "generated", importFileExtension: ".js" },
  plugins: ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"],
};
