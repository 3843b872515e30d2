// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/clang/header_reader.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Tooling/Tooling.h"
#include "generator/crd/clang/comments.h"
#include "generator/crd/clang/errors.h"
#include "generator/crd/clang/sources.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace kgen::generator::crd {
namespace {

std::string Text(llvm::StringRef text) { return text.str(); }

// Skips headers that kgen-crd itself will generate, and remembers the code that #if leaves out.
class Preprocessing : public clang::PPCallbacks {
 public:
  explicit Preprocessing(Run& run) : run_(run) {}
  bool FileNotFound(llvm::StringRef name) override {
    return !run_.options.generated.empty() && name.starts_with(run_.options.generated);
  }
  void SourceRangeSkipped(clang::SourceRange range, clang::SourceLocation) override { run_.skipped.push_back(range); }

 private:
  Run& run_;
};

bool IsIn(const std::string& name, std::string_view name_space) {
  return name.starts_with(std::string(name_space) + "::");
}

// The names of leaves, and what to write instead of types that look like them.
std::optional<TypeKind> Leaf(const std::string& name) {
  static const std::map<std::string, TypeKind, std::less<>> kLeaves = {
      {"kgen::String", TypeKind::kString},
      {"kgen::Bytes", TypeKind::kBytes},
      {"kgen::Time", TypeKind::kTime},
      {"kgen::MicroTime", TypeKind::kMicroTime},
      {"kgen::Duration", TypeKind::kDuration},
      {"kgen::Quantity", TypeKind::kQuantity},
      {"kgen::Json", TypeKind::kJson},
      {"kgen::IntOrString", TypeKind::kIntOrString},
      {"kgen::meta::v1::ObjectMeta", TypeKind::kObjectMeta}};
  const auto found = kLeaves.find(name);
  return found == kLeaves.end() ? std::nullopt : std::optional(found->second);
}

std::string Instead(const std::string& name) {
  static const std::map<std::string, std::string, std::less<>> kInstead = {
      {"std::basic_string", "kgen::String"},
      {"std::__cxx11::basic_string", "kgen::String"},
      {"std::basic_string_view", "kgen::String"},
      {"std::vector", "kgen::List<T>"},
      {"std::array", "kgen::List<T>"},
      {"std::map", "kgen::Map<T>"},
      {"std::unordered_map", "kgen::Map<T>"},
      {"std::optional", "kgen::Optional<T>"},
      {"std::unique_ptr", "kgen::Optional<T>"},
      {"std::shared_ptr", "kgen::Optional<T>"},
      {"std::variant", "kgen::Json, or one Optional member for each alternative"},
      {"std::chrono::duration", "kgen::Duration"},
      {"std::chrono::time_point", "kgen::Time"}};
  const auto found = kInstead.find(name);
  return found == kInstead.end() ? std::string(
                                       "kgen::String, numbers, bool, the other value types of kgen, or a struct "
                                       "with KGEN_OBJECT")
                                 : "write " + found->second;
}

class Reader {
 public:
  Reader(clang::ASTContext& context, Run& run) : context_(context), sources_(context.getSourceManager()), run_(run) {}

  void Read() {
    ReadScope(*context_.getTranslationUnitDecl());
    // Structs of other APIs, as far as members need them; more may be found on the way.
    while (!external_.empty()) {
      const clang::CXXRecordDecl* record = *external_.begin();
      external_.erase(external_.begin());
      if (!run_.out.structs.contains(record->getQualifiedNameAsString())) ReadStruct(*record, true);
    }
    if (!run_.diagnostics.has_errors()) CheckUnread();  // structs that were refused have unread members
  }

 private:
  enum class Use { kMember, kElement };

  void ReadScope(const clang::DeclContext& scope) {
    for (const clang::Decl* decl : scope.decls()) {
      if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(decl)) {
        if (IsListed(*decl) && !space->isNested()) ReadNamespace(*space);
        ReadScope(*space);
      } else if (const auto* alias = llvm::dyn_cast<clang::TypedefNameDecl>(decl)) {
        if (!alias->isImplicit() && IsListed(*decl)) ReadAlias(*alias);
      } else if (const auto* linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(decl)) {
        ReadScope(*linkage);
      } else if (const auto* templated = llvm::dyn_cast<clang::ClassTemplateDecl>(decl)) {
        if (IsListed(*decl) && HasMarkers(*decl)) {
          Error("template", *templated, Quote(Text(templated->getName())) + " is a template, and an API has only types",
                "write one struct for each type");
        }
      } else if (const auto* enumeration = llvm::dyn_cast<clang::EnumDecl>(decl)) {
        if (IsListed(*decl) && enumeration->isScoped() && enumeration->isCompleteDefinition())
          ReadEnum(*enumeration, false);
      } else if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl)) {
        if (record->isImplicit() || !record->isThisDeclarationADefinition()) continue;
        if (!IsListed(*decl)) {
          CheckUnlisted(*record);
          continue;
        }
        if (IsObject(*record)) {
          ReadStruct(*record, false);
        } else {
          CheckPlain(*record);
        }
        ReadScope(*record);
      }
    }
  }

  // The markers above `namespace acme::shop::v1 {` are about the innermost of these.
  void ReadNamespace(const clang::NamespaceDecl& outer) {
    Comment comment = CommentOf(outer);
    std::erase_if(comment.markers, [](const CommentLine& line) { return !IsKnown(line); });
    const clang::NamespaceDecl* inner = &outer;
    for (const clang::NamespaceDecl* next = inner; next != nullptr;) {
      inner = next;
      next = nullptr;
      for (const clang::Decl* decl : inner->decls()) {
        const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(decl);
        if (space != nullptr && space->isNested()) next = space;
      }
    }
    if (comment.markers.empty()) return;
    std::vector<CommentLine>& all = run_.out.namespaces[inner->getQualifiedNameAsString()].comment.markers;
    all.insert(all.end(), comment.markers.begin(), comment.markers.end());
  }

  void ReadAlias(const clang::TypedefNameDecl& alias) {
    const auto [at, added] = run_.out.aliases.try_emplace(alias.getQualifiedNameAsString());
    if (added) at->second.comment = CommentOf(alias);
  }

  // The names of a type, from the innermost on: using Inner = kgen::String; using Outer = Inner;
  std::vector<std::string> AliasesOf(clang::QualType type) {
    std::vector<std::string> out;
    while (const auto* named = type->getAs<clang::TypedefType>()) {
      const clang::TypedefNameDecl& alias = *named->getDecl();
      const std::string name = alias.getQualifiedNameAsString();
      if (!IsListed(alias) && IsUsed(name) && HasMarkers(alias)) ReadAlias(alias);
      if (run_.out.aliases.contains(name) || IsListed(alias)) out.push_back(name);
      type = alias.getUnderlyingType();
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  // --- positions and comments ---

  clang::SourceLocation Place(const clang::Decl& decl) const { return sources_.getExpansionLoc(decl.getLocation()); }

  std::string PathOf(clang::SourceLocation at) const {
    const auto file = sources_.getFileEntryRefForID(sources_.getFileID(at));
    return file ? std::filesystem::absolute(Text(file->getName())).lexically_normal().native() : std::string();
  }

  bool IsListed(const clang::Decl& decl) {
    const clang::FileID id = sources_.getFileID(Place(decl));
    const auto [at, added] = listed_.emplace(id, false);
    if (added) {
      at->second = std::find(run_.paths.begin(), run_.paths.end(), PathOf(Place(decl))) != run_.paths.end();
    }
    return at->second;
  }

  FileComments& CommentsOf(clang::FileID id) {
    std::unique_ptr<FileComments>& known = comments_[id];
    if (known != nullptr) return *known;
    const llvm::StringRef text = sources_.getBufferData(id);
    std::vector<FileToken> tokens = Tokens(text, context_.getLangOpts());
    known = std::make_unique<FileComments>(std::string_view(text.data(), text.size()), std::move(tokens),
                                           run_.Number(PathOf(sources_.getLocForStartOfFile(id))));
    return *known;
  }

  Origin At(const clang::Decl& decl) {
    const clang::SourceLocation at = Place(decl);
    if (at.isInvalid()) return {};
    return CommentsOf(sources_.getFileID(at)).At(sources_.getFileOffset(at));
  }

  Comment CommentOf(const clang::Decl& decl) {
    const clang::SourceLocation begin = sources_.getExpansionLoc(decl.getSourceRange().getBegin());
    const clang::SourceLocation last = sources_.getExpansionLoc(decl.getSourceRange().getEnd());
    const clang::FileID id = sources_.getFileID(begin);
    if (begin.isInvalid() || id != sources_.getFileID(last)) return {};
    const unsigned length = clang::Lexer::MeasureTokenLength(last, sources_, context_.getLangOpts());
    return CommentsOf(id).Of(sources_.getFileOffset(begin), sources_.getFileOffset(last) + length);
  }

  bool HasMarkers(const clang::Decl& decl) { return !CommentOf(decl).markers.empty(); }

  void Error(std::string_view id, const clang::Decl& decl, std::string message, std::string hint) {
    run_.diagnostics.Error(id, At(decl), std::move(message), {}, std::move(hint));
  }

  // A marker that no declaration has would be lost: above a function or an alias, or with a directive below it.
  void CheckUnread() {
    // A header without types may have markers too.
    for (const std::string& path : run_.paths) {
      const clang::OptionalFileEntryRef file = sources_.getFileManager().getOptionalFileRef(path);
      const clang::FileID id = file ? sources_.translateFile(*file) : clang::FileID();
      if (id.isValid()) listed_.emplace(id, true);
    }
    for (const auto& [id, listed] : listed_) {
      if (!listed) continue;
      FileComments& comments = CommentsOf(id);
      for (const clang::SourceRange& range : run_.skipped) {
        if (sources_.getFileID(range.getBegin()) == id)
          comments.Skip(sources_.getFileOffset(range.getBegin()), sources_.getFileOffset(range.getEnd()));
      }
      for (const CommentLine& line : comments.UnreadMarkers()) {
        if (IsAboutProgram(line)) run_.out.elsewhere.push_back(line);
        if (IsAboutProgram(line) || !IsKnown(line)) continue;
        run_.diagnostics.Error(
            "marker-lost", line.origin, "the marker " + Quote(line.text, 80) + " is not on a declaration of the API",
            {}, "write it directly above a struct, a member, a named type, an enum class or one of its values");
      }
    }
  }

  // --- structs ---

  static const clang::FieldDecl* UnknownFields(const clang::CXXRecordDecl& record) {
    for (const clang::FieldDecl* field : record.fields()) {
      if (field->getName() == "unknown_fields") return field;
    }
    return nullptr;
  }

  static bool IsObject(const clang::CXXRecordDecl& record) {
    if (UnknownFields(record) == nullptr) return false;
    return std::any_of(record.decls_begin(), record.decls_end(), [](const clang::Decl* decl) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
      return variable != nullptr && variable->getName() == "kTable";
    });
  }

  // Reports what a table cannot describe.
  bool CheckStruct(const clang::CXXRecordDecl& record) {
    const std::string name = Quote(Text(record.getName()));
    const auto fail = [&](const std::string& fault, const char* hint) {
      Error("unsupported-struct", record, name + " " + fault, hint);
      return false;
    };
    if (record.isUnion()) return fail("is a union", "write a struct with one Optional member for each alternative");
    if (record.isDependentContext()) return fail("is a template", "write one struct for each type");
    if (record.getNumBases() != 0)
      return fail(
          "has a base class, so it has no standard layout",
          "make the base a member, whose members are then at this level of JSON: Base base{};  // +kgen:inline");
    if (record.isPolymorphic()) return fail("has virtual functions", "write the behaviour as functions outside");
    if (!record.hasExternalFormalLinkage() || record.getParentFunctionOrMethod() != nullptr)
      return fail("is local or in an anonymous namespace", "move it into a namespace with a name");
    if (record.hasAttr<clang::PackedAttr>())
      return fail("is packed", "remove the attribute; the members are read through references, which must be aligned");
    if (!CheckAccess(record)) return false;
    if (!record.isAggregate()) return fail("has constructors", "remove them; functions outside can make the struct");
    if (!CheckName(record) || !CheckOthers(record)) return false;
    if (context_.getTypeSizeInChars(context_.getCanonicalTagType(&record)).getQuantity() > 0xFFFF)
      return fail("is larger than 65535 bytes", "put groups of members into structs of their own");
    return true;
  }

  bool CheckAccess(const clang::CXXRecordDecl& record) {
    bool fine = true;
    for (const clang::FieldDecl* field : record.fields()) {
      if (field->getAccess() == clang::AS_public) continue;
      fine = false;
      Error("unsupported-member", *field, "the member " + Quote(Text(field->getName())) + " is not public",
            "make it public, KGEN_OBJECT too");
    }
    return fine;
  }

  // KGEN_OBJECT of another struct compiles too.
  bool CheckName(const clang::CXXRecordDecl& record) {
    const clang::FieldDecl* last = UnknownFields(record);
    if (last == nullptr) return true;
    for (const clang::FriendDecl* mate : record.friends()) {
      const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(mate->getFriendDecl());
      if (function == nullptr || function->getOverloadedOperator() != clang::OO_EqualEqual) continue;
      const clang::QualType of = function->getParamDecl(0)->getType().getNonReferenceType();
      const clang::CXXRecordDecl* named = of->getAsCXXRecordDecl();
      if (named != nullptr && named->getCanonicalDecl() == record.getCanonicalDecl()) return true;
    }
    Error("kgen-object-name", *last, "KGEN_OBJECT does not name its struct",
          "write KGEN_OBJECT(" + Text(record.getName()) + ")");
    return false;
  }

  // Functions and variables: they are not part of the API, and a reader would expect them to be.
  bool CheckOthers(const clang::CXXRecordDecl& record) {
    bool fine = true;
    const auto fail = [&](const clang::NamedDecl& decl, const char* fault, const char* hint) {
      fine = false;
      Error("unsupported-member", decl, Quote(decl.getNameAsString()) + " " + fault, hint);
    };
    for (const clang::Decl* decl : record.decls()) {
      if (decl->isImplicit()) continue;
      if (const auto* function = llvm::dyn_cast<clang::CXXMethodDecl>(decl)) {
        fail(*function, "is a function", "write it outside of the struct");
      } else if (const auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(decl)) {
        fail(*pattern, "is a function", "write it outside of the struct");
      } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl)) {
        if (variable->getName() != "kTable" && !IsTextConstant(variable->getType()))
          fail(*variable, "is static, so it is no member of the object", "remove static, or write it outside");
      }
    }
    return fine;
  }

  static bool IsTextConstant(clang::QualType type) {
    const clang::Type* canonical = type.getCanonicalType().getTypePtr();
    if (const clang::CXXRecordDecl* record = canonical->getAsCXXRecordDecl(); record != nullptr)
      return record->getQualifiedNameAsString() == "std::basic_string_view";
    if (const auto* array = llvm::dyn_cast<clang::ArrayType>(canonical)) return array->getElementType()->isCharType();
    return canonical->isPointerType() && canonical->getPointeeType()->isCharType();
  }

  void ReadStruct(const clang::CXXRecordDecl& record, bool external) {
    if (!external && !CheckStruct(record)) return;
    Struct out;
    out.external = external;
    out.path = Text(record.getName());
    const clang::DeclContext* around = record.getDeclContext();
    for (; around->isRecord(); around = around->getParent()) {
      out.path = Text(llvm::cast<clang::CXXRecordDecl>(around)->getName()) + "::" + out.path;
    }
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(around))
      out.name_space = space->getQualifiedNameAsString();
    out.origin = At(record);
    out.comment = CommentOf(record);
    out.header = Included(PathOf(Place(record)));
    const clang::FieldDecl& unknown = *UnknownFields(record);
    out.documented = external && !unknown.getLocation().isMacroID();
    if (out.documented) {
      out.comment = {};  // prose of another generator
    } else {
      if (unknown.getFieldIndex() + 1 != static_cast<unsigned>(std::distance(record.field_begin(), record.field_end())))
        Error("kgen-object-last", record, "KGEN_OBJECT is not the last member", "move it behind the other members");
      ReadMembers(record, {}, out);
    }
    run_.out.structs.emplace(out.Name(), std::move(out));
  }

  // Adds the members of `record`, which is the struct itself or, behind `prefix` ("common."), inlined into it.
  void ReadMembers(const clang::CXXRecordDecl& record, const std::string& prefix, Struct& out) {
    for (const clang::FieldDecl* field : record.fields()) {
      if (field->getName() == "unknown_fields" || field->isInvalidDecl()) continue;  // Clang has reported it
      if (IsInline(*field)) {
        ReadInline(*field, prefix, out);
        continue;
      }
      std::optional<Member> member = ReadMember(*field, out.external);
      if (!member) continue;
      if (!prefix.empty() && member->type.kind == TypeKind::kObjectMeta && !member->type.boxed) {
        Error("inline", *field, "metadata is inlined", "metadata belongs to the kind itself");
        continue;
      }
      member->name.insert(0, prefix);
      out.members.push_back(std::move(*member));
    }
  }

  // A struct without a table may be inlined, here or by another API, but is no kind.
  void CheckPlain(const clang::CXXRecordDecl& record) {
    const Comment comment = CommentOf(record);
    for (const clang::FieldDecl* field : record.fields()) CommentOf(*field);  // read where it is inlined
    if (!IsKind(comment)) return;
    Error("no-kgen-object", record, Quote(Text(record.getName())) + " has markers but is no API type",
          "write KGEN_OBJECT(" + Text(record.getName()) + ") as its last member");
  }

  // A kind in a header that is only included has no CRD, and nobody would notice.
  void CheckUnlisted(const clang::CXXRecordDecl& record) {
    if (!IsObject(record) || IsUsed(record.getQualifiedNameAsString()) || !IsKind(CommentOf(record))) return;
    run_.diagnostics.Warning(
        "kind-unlisted", At(record),
        Quote(Text(record.getName())) + " is a kind, but its header is not an input, so it has no CRD", {},
        "name that header too, or, if it is of another API, the API: --use NAMESPACE");
  }

  static bool IsKind(const Comment& comment) {
    return std::any_of(comment.markers.begin(), comment.markers.end(), [](const CommentLine& line) {
      Diagnostics dropped;
      const std::optional<Marker> marker = ParseMarker(line, kOnStruct, dropped);
      return marker && marker->name == "resource";
    });
  }

  // Whether a member has the marker inline. Other markers beside it would describe an object that is not there.
  bool IsInline(const clang::FieldDecl& field) {
    const Comment comment = CommentOf(field);
    bool found = false;
    const CommentLine* other = nullptr;
    for (const CommentLine& line : comment.markers) {
      Diagnostics dropped;
      const std::optional<Marker> marker = ParseMarker(line, kOnMember, dropped);
      const bool is_inline = marker && marker->name == "inline";
      found = found || is_inline;
      if (!is_inline) other = &line;
    }
    if (found && other != nullptr) {
      run_.diagnostics.Error("inline", other->origin, "a marker beside +kgen:inline has no effect", {},
                             "write it on the members of the struct; rules for the whole struct go above the struct");
    }
    return found;
  }

  // The members of an inlined struct are members of the outer object, so it has neither a table nor unknown fields.
  void ReadInline(const clang::FieldDecl& field, const std::string& prefix, Struct& out) {
    const std::string name = Text(field.getName());
    const auto fail = [&](const std::string& fault, const std::string& hint) {
      Error("inline", field, "the member " + Quote(name) + " cannot be inlined: " + fault, hint);
    };
    const clang::CXXRecordDecl* record = field.getType().getCanonicalType()->getAsCXXRecordDecl();
    if (record != nullptr) record = record->getDefinition();
    const std::string type = record == nullptr ? std::string() : record->getQualifiedNameAsString();
    if (record == nullptr || IsIn(type, "kgen") || IsIn(type, "std"))
      return fail("it is no struct", "write, for example: Common common{};");
    const std::string word = Text(record->getName());
    if (!IsListed(*record) && !IsUsed(type))
      return fail("the header with " + Quote(word) + " is not an input",
                  "name that header, or the API: --use NAMESPACE");
    const clang::FieldDecl* unknown = UnknownFields(*record);
    if (unknown != nullptr && !unknown->getLocation().isMacroID())
      return fail(Quote(word) + " is generated, and only its document knows its members", "repeat the members");
    if (!CheckStruct(*record) || !CheckInitializer(field, {.kind = TypeKind::kJson})) return;
    const Comment comment = CommentOf(*record);
    out.comment.markers.insert(out.comment.markers.end(), comment.markers.begin(), comment.markers.end());
    ReadMembers(*record, prefix + name + ".", out);
  }

  std::string Included(const std::string& path) const {
    const std::filesystem::path root = std::filesystem::absolute(run_.options.root.empty() ? "." : run_.options.root);
    const std::filesystem::path relative = std::filesystem::path(path).lexically_relative(root.lexically_normal());
    return relative.empty() || *relative.begin() == ".." ? path : relative.generic_string();
  }

  std::optional<Member> ReadMember(const clang::FieldDecl& field, bool external) {
    const auto fail = [&](std::string_view id, const std::string& fault, std::string hint) {
      Error(id, field, "the member " + Quote(Text(field.getName())) + " " + fault, std::move(hint));
      return std::nullopt;
    };
    if (field.getName().empty()) {
      Error("unsupported-member", field, "a member has no name", "name it, and write its struct outside");
      return std::nullopt;
    }
    if (!external && field.getLocation().isMacroID())
      return fail("unsupported-member", "comes from a macro", "write the member itself, so that it has comments");
    if (field.isBitField())
      return fail("unsupported-member", "is a bit field", "write kgen::Optional<bool> or another number");
    if (field.isMutable()) return fail("unsupported-member", "is mutable", "remove the word");
    Member out{.name = Text(field.getName()), .wire_name = {}, .type = {}, .comment = {}, .origin = At(field)};
    out.wire_name = out.name;
    while (out.wire_name.size() > 1 && out.wire_name.back() == '_') out.wire_name.pop_back();
    std::optional<Type> type = ReadType(field.getType(), Use::kMember, field);
    if (!type) return std::nullopt;
    out.type = std::move(*type);
    out.comment = CommentOf(field);
    if (!external && !CheckInitializer(field, out.type)) return std::nullopt;
    return out;
  }

  bool CheckInitializer(const clang::FieldDecl& field, const Type& type) {
    std::string text;
    if (field.hasInClassInitializer() && field.getInClassInitializer() != nullptr) {
      const auto range = clang::CharSourceRange::getTokenRange(field.getInClassInitializer()->getSourceRange());
      text = Text(clang::Lexer::getSourceText(range, sources_, context_.getLangOpts()));
      std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
    }
    const std::string declared =
        Text(clang::Lexer::getSourceText(clang::CharSourceRange::getCharRange(field.getBeginLoc(), field.getLocation()),
                                         sources_, context_.getLangOpts()));
    if (type.boxed) {
      if (text.ends_with("kAbsent") || text.ends_with("kAbsent}")) return true;
      Error("not-absent", field,
            "the member " + Quote(Text(field.getName())) + " would " +
                (text.empty() ? "leave the struct without a default" : "be present in every new object"),
            "write: " + declared + Text(field.getName()) + " = kgen::kAbsent;");
      return false;
    }
    if (text.empty() || text == "{}") return true;
    Error(
        "initializer", field,
        "the member " + Quote(Text(field.getName())) + " has an initial value, so an absent struct would not be empty",
        "write: " + declared + Text(field.getName()) + "{}; the marker +kgen:default sets a default at the server");
    return false;
  }

  // --- types ---

  std::optional<Type> BadType(const clang::FieldDecl& field, const std::string& fault, const std::string& hint) {
    Error("unsupported-type", field, "the member " + Quote(Text(field.getName())) + " " + fault, hint);
    return std::nullopt;
  }

  std::optional<Type> ReadType(clang::QualType written, Use use, const clang::FieldDecl& field) {
    std::optional<Type> out = ReadUnnamed(written, use, field);
    if (!out) return out;
    for (std::string& name : AliasesOf(written)) out->aliases.push_back(std::move(name));
    return out;
  }

  std::optional<Type> ReadUnnamed(clang::QualType written, Use use, const clang::FieldDecl& field) {
    const clang::QualType type = written.getCanonicalType();
    const std::string spelling = written.getAsString(context_.getPrintingPolicy());
    const std::string spelled = Quote(spelling, 100);
    if (type.hasQualifiers()) return BadType(field, "is const or volatile", "remove the word");
    if (type->isPointerType() || type->isReferenceType() || type->isMemberPointerType())
      return BadType(field, "is a pointer or reference", "write kgen::Optional<T>, which owns its value");
    if (type->isArrayType()) return BadType(field, "is an array", "write kgen::List<T>");
    if (type->isEnumeralType())
      return BadType(field, "is an enum, which cannot be absent", "write kgen::Enum<" + spelling + ">");
    if (const auto* builtin = type->getAs<clang::BuiltinType>()) return ReadNumber(*builtin, use, spelled, field);
    const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
    if (record == nullptr) return BadType(field, "has the type " + spelled, Instead({}));
    const std::string name = record->getQualifiedNameAsString();
    if (const auto leaf = Leaf(name)) return Type{.kind = *leaf};
    if (const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record)) {
      const clang::TemplateArgument& argument = special->getTemplateArgs()[0];
      clang::QualType inner =
          argument.getKind() == clang::TemplateArgument::Type ? argument.getAsType() : clang::QualType();
      // As it is written, an argument still has its name.
      const auto* template_type = written->getAs<clang::TemplateSpecializationType>();
      if (template_type != nullptr && !template_type->isTypeAlias() && !template_type->template_arguments().empty() &&
          template_type->template_arguments()[0].getKind() == clang::TemplateArgument::Type)
        inner = template_type->template_arguments()[0].getAsType();
      if (!inner.isNull()) return ReadTemplate(name, inner, use, spelled, field);
    }
    if (!IsObjectType(*record, name)) return NotAnObject(*record, name, spelled, field);
    if (use == Use::kMember)
      return BadType(field, "has the type " + spelled + ", and a struct that is always there cannot be absent",
                     "write: kgen::Optional<" + spelling + "> " + Text(field.getName()) + " = kgen::kAbsent;");
    return Type{.kind = TypeKind::kStruct, .name = name};
  }

  std::optional<Type> NotAnObject(const clang::CXXRecordDecl& record, const std::string& name,
                                  const std::string& spelled, const clang::FieldDecl& field) {
    if (record.isUnion()) return BadType(field, "is a union", "write one Optional member for each alternative");
    if (record.getName().empty()) return BadType(field, "has a struct without a name", "name the struct");
    if (record.getDefinition() == nullptr)
      return BadType(field, "has the type " + spelled + ", which is not defined", "define it in one of the headers");
    if (IsListed(record)) {
      return BadType(field, "has the type " + spelled + ", which is no API type",
                     "write KGEN_OBJECT(" + Text(record.getName()) + ") as the last member of that struct");
    }
    if (record.getDefinition() != nullptr && IsObject(*record.getDefinition())) {
      return BadType(field, "has the type " + spelled + " of " + PathOf(Place(record)) + ", which is not an input",
                     "name that header too, or, for a type of another API, the API: --use NAMESPACE");
    }
    return BadType(field, "has the type " + spelled, Instead(name));
  }

  // Whether a type of that name is of another API.
  bool IsUsed(const std::string& name) const {
    return IsIn(name, "kgen::meta::v1") || std::any_of(run_.options.uses.begin(), run_.options.uses.end(),
                                                       [&](const std::string& space) { return IsIn(name, space); });
  }

  // Returns whether a struct has a table, and remembers the structs of other APIs.
  bool IsObjectType(const clang::CXXRecordDecl& declared, const std::string& name) {
    const clang::CXXRecordDecl* record = declared.getDefinition();
    if (record == nullptr) return false;
    if (IsListed(*record)) return IsObject(*record);
    if (!IsUsed(name) || !IsObject(*record)) return false;
    external_.insert(record);
    return true;
  }

  std::optional<Type> ReadNumber(const clang::BuiltinType& builtin, Use use, const std::string& spelled,
                                 const clang::FieldDecl& field) {
    Type out;
    switch (builtin.getKind()) {
      case clang::BuiltinType::Bool:
        out.kind = TypeKind::kBool;
        break;
      case clang::BuiltinType::Int:
        out.kind = TypeKind::kInt32;
        break;
      case clang::BuiltinType::Long:
        out.kind = TypeKind::kInt64;
        break;
      case clang::BuiltinType::Double:
        out.kind = TypeKind::kDouble;
        break;
      default:
        return BadType(field, "has the type " + spelled + ", which JSON does not have",
                       "write std::int32_t, std::int64_t, double or bool; the marker +kgen:minimum=0 refuses "
                       "negative values");
    }
    if (use == Use::kMember && !in_optional_)
      return BadType(field, "has the type " + spelled + ", which cannot be absent",
                     "write: kgen::Optional<T> " + Text(field.getName()) + "{};");
    return out;
  }

  std::optional<Type> ReadTemplate(const std::string& name, clang::QualType inner, Use use, const std::string& spelled,
                                   const clang::FieldDecl& field) {
    if (name == "kgen::Enum") {
      const clang::EnumDecl* decl = inner->getAsEnumDecl();
      const bool used = decl != nullptr && !IsListed(*decl) && IsUsed(decl->getQualifiedNameAsString());
      if (decl == nullptr || !(used || IsListed(*decl)) || !decl->isScoped())
        return BadType(field, "has the type " + spelled, "write an enum class in one of the headers of the API");
      if (used) ReadEnum(*decl->getDefinition(), true);
      return Type{.kind = TypeKind::kEnum, .name = decl->getQualifiedNameAsString()};
    }
    if (name == "kgen::List" || name == "kgen::Map") {
      std::optional<Type> element = ReadType(inner, Use::kElement, field);
      if (!element) return std::nullopt;
      return Type{.kind = name == "kgen::List" ? TypeKind::kList : TypeKind::kMap,
                  .name = {},
                  .element = {std::move(*element)}};
    }
    if (name != "kgen::Optional") return BadType(field, "has the type " + spelled, Instead(name));
    if (use == Use::kElement)
      return BadType(field, "has Optional elements", "write the elements without Optional; lists have no gaps");
    in_optional_ = true;
    std::optional<Type> value = ReadType(inner, inner->isRecordType() ? Use::kElement : Use::kMember, field);
    in_optional_ = false;
    if (!value) return std::nullopt;
    value->boxed = value->kind == TypeKind::kStruct || value->kind == TypeKind::kObjectMeta;
    const bool fits = value->boxed || value->kind <= TypeKind::kDouble;
    if (!fits)
      return BadType(field, "has the type " + spelled + ", but that type can be absent by itself",
                     "write it without Optional");
    return value;
  }

  // --- enums ---

  void ReadEnum(const clang::EnumDecl& decl, bool external) {
    Enum out{.name = decl.getQualifiedNameAsString(), .comment = CommentOf(decl), .origin = At(decl), .values = {}};
    out.external = external;
    for (const clang::EnumConstantDecl* constant : decl.enumerators()) {
      Enum::Value value{
          .name = Text(constant->getName()), .text = {}, .comment = CommentOf(*constant), .origin = At(*constant)};
      value.text = value.name;
      const bool k = value.name.size() > 1 && value.name[0] == 'k' && value.name[1] >= 'A' && value.name[1] <= 'Z';
      if (k) value.text.erase(0, 1);
      out.values.push_back(std::move(value));
    }
    CheckValues(decl);
    run_.out.enums.emplace(out.name, std::move(out));
  }

  void CheckValues(const clang::EnumDecl& decl) {
    std::map<std::int64_t, std::string> names;
    for (const clang::EnumConstantDecl* constant : decl.enumerators()) {
      const std::string name = Text(constant->getName());
      const auto [first, added] = names.emplace(constant->getInitVal().extOrTrunc(64).getSExtValue(), name);
      if (added) continue;
      Error("enum-value", *constant, Quote(name) + " has the same number as " + Quote(first->second),
            "give each its own: a number is written to JSON as one text");
    }
  }

  clang::ASTContext& context_;
  clang::SourceManager& sources_;
  Run& run_;
  std::map<clang::FileID, bool> listed_;
  std::map<clang::FileID, std::unique_ptr<FileComments>> comments_;
  std::set<const clang::CXXRecordDecl*> external_;  // still to read
  bool in_optional_ = false;
};

class Consumer : public clang::ASTConsumer {
 public:
  Consumer(clang::CompilerInstance& compiler, Errors& errors, Run& run)
      : compiler_(compiler), errors_(errors), run_(run) {}

  void HandleTranslationUnit(clang::ASTContext& context) override {
    const clang::SourceManager& sources = context.getSourceManager();
    for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file) {
      const std::string name = Text(file->first.getName());
      // Clang's names have parts such as /lib/gcc/12/../.., and /lib may be a link, so only the disk knows the file.
      std::error_code error;
      const std::filesystem::path path = std::filesystem::canonical(name, error);
      if (!error && name != kMainFile) run_.out.files.push_back(path.native());
    }
    std::sort(run_.out.files.begin(), run_.out.files.end());
    run_.out.files.erase(std::unique(run_.out.files.begin(), run_.out.files.end()), run_.out.files.end());
    errors_.Flush();
    if (!compiler_.getDiagnostics().hasErrorOccurred() || errors_.only_of_members()) Reader(context, run_).Read();
  }

 private:
  clang::CompilerInstance& compiler_;
  Errors& errors_;
  Run& run_;
};

class Action : public clang::ASTFrontendAction {
 public:
  Action(Errors& errors, Run& run) : errors_(errors), run_(run) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    compiler.getFrontendOpts().SkipFunctionBodies = true;  // a third of the time
    compiler.getPreprocessor().addPPCallbacks(std::make_unique<Preprocessing>(run_));
    return std::make_unique<Consumer>(compiler, errors_, run_);
  }

 private:
  Errors& errors_;
  Run& run_;
};

std::vector<std::string> CommandLine(const HeaderOptions& options) {
  std::vector<std::string> line = {"clang++", "-xc++", "-fsyntax-only", "-std=c++23", "-w", "-Qunused-arguments",
                                   "-fno-caret-diagnostics",
                                   // Bodies of templates are parsed only where a constant needs them.
                                   "-fdelayed-template-parsing",
                                   // Deeper brackets exhaust the stack.
                                   "-fbracket-depth=256", "-ferror-limit=500",
                                   // A header could crash Clang with a pragma for Clang's own tests.
                                   "-Xclang", "-disable-pragma-debug-crash"};
  line.insert(line.end(), options.flags.begin(), options.flags.end());
  std::string resources = options.resource_dir;
  if (resources.empty() && std::filesystem::exists(KGEN_CLANG_RESOURCE_DIR)) resources = KGEN_CLANG_RESOURCE_DIR;
  if (!resources.empty()) line.push_back("-resource-dir=" + resources);
  line.emplace_back(kMainFile);
  return line;
}

}  // namespace

Description ReadHeaders(const HeaderOptions& options, Diagnostics& diagnostics) {
  Run run{.options = options, .diagnostics = diagnostics, .paths = {}};
  std::string main;
  for (const std::string& header : options.headers) {
    run.paths.push_back(std::filesystem::absolute(header).lexically_normal().native());
    run.Number(run.paths.back());
    std::error_code ignored;
    if (std::filesystem::is_regular_file(run.paths.back(), ignored)) {
      main += "#include \"" + run.paths.back() + "\"\n";
      continue;
    }
    const bool exists = std::filesystem::exists(run.paths.back(), ignored);
    diagnostics.Error("cannot-read", {.file = run.Number(run.paths.back())},
                      exists ? "this is no file, so it cannot be a header" : "there is no such header");
  }
  if (diagnostics.has_errors()) return {};
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  memory->addFile(kMainFile, 0, llvm::MemoryBuffer::getMemBufferCopy(main));
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
  files->pushOverlay(memory);
  auto manager = llvm::makeIntrusiveRefCnt<clang::FileManager>(clang::FileSystemOptions(), files);
  Errors errors(run);
  clang::tooling::ToolInvocation invocation(CommandLine(options), std::make_unique<Action>(errors, run), manager.get());
  invocation.setDiagnosticConsumer(&errors);
  const bool parsed = invocation.run();
  errors.Flush();
  if (!parsed && !diagnostics.has_errors())
    diagnostics.Error("cxx", {}, "Clang could not parse the headers", {}, "check the flags that kgen-crd is given");
  if (!parsed && !errors.only_of_members()) return {};
  for (const std::string& source : options.sources) ReadSource(source, run);
  return std::move(run.out);
}

}  // namespace kgen::generator::crd
