# Takes every library from Debian's packages, so that no index of recipes is needed. Debian 12; the versions only have to
# fit the ranges of the recipe.
[settings]
os=Linux
arch=x86_64
compiler=gcc
compiler.version=12
compiler.libcxx=libstdc++11
compiler.cppstd=23
build_type=Release

[platform_requires]
nlohmann_json/3.11.2
openssl/3.0.0
libnghttp2/1.52.0
libyaml/0.2.5
re2/20230301
boost/1.81.0

[conf]
tools.build:compiler_executables={"c": "gcc", "cpp": "g++"}
